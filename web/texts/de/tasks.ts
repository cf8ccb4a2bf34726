export { tasks } from '../en/tasks';
