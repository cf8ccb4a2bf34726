export { gate } from '../en/gate';
