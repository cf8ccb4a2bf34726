export { trust } from '../en/trust';
