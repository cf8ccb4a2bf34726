export { controls } from '../en/controls';
