/** A worker thread of `build-report.mjs`: receives one script as text and sends it back, as small as terser makes it. */
import { parentPort, workerData } from 'node:worker_threads';

import { minify } from 'terser';

const { code } = await minify(workerData, {
  ecma: 2022,
  compress: { passes: 3, ecma: 2022, unsafe_arrows: true, keep_fargs: false },
  format: { ascii_only: true }
});
parentPort.postMessage(code);
