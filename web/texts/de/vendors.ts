export { vendors } from '../en/vendors';
