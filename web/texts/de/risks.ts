export { risks } from '../en/risks';
