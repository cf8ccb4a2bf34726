export { soa } from '../en/soa';
