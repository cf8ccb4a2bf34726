import { Register } from '../parts/register/Register';
import { vendors } from './fields';

export function Vendors() {
  return <Register d={vendors()} />;
}
