export type { Dashboard, DashboardOptions } from './view';
export { mount } from './view';
