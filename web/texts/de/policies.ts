export { policies } from '../en/policies';
