export { shared } from '../en/shared';
