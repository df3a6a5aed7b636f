// Where eslint looks for it, also in an editor and from `npx eslint`.
export { default } from './labextension/eslint.config.js';
