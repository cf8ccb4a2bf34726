export { people } from '../en/people';
