export { audit } from '../en/audit';
