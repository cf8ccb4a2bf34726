export { frameworks } from '../en/frameworks';
