import { Register } from '../parts/register/Register';
import { risks } from './fields';

export function Risks() {
  return <Register d={risks()} />;
}
