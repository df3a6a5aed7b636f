/** The feed of a kernel over comms that this page opens; loaded with the first feed. */
import type { Kernel } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';

import { KernelComms } from '../kernel/comms';
import { Feed } from './feed';
import type { FeedSettings } from './state';

export function kernelFeed(kernels: Kernel.IManager, model: Kernel.IModel, settings?: FeedSettings, openPage?: (html: string) => void): Feed {
  return new Feed(model.id, new KernelComms(kernels, model, UUID.uuid4()), settings, openPage);
}
