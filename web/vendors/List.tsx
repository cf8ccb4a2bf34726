import { useMe } from '../api/session';
import { MissingPage } from '../parts/ErrorPage';
import { Register } from '../parts/register/Register';
import { vendors } from './fields';

export function Vendors() {
  const { can } = useMe();
  return can('vendor:read') ? <Register of={vendors} /> : <MissingPage />;
}
