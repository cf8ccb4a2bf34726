import { useMe } from '../api/session';
import { MissingPage } from '../parts/ErrorPage';
import { Register } from '../parts/register/Register';
import { risks } from './fields';

export function Risks() {
  const { can } = useMe();
  return can('risk:read') ? <Register of={risks} /> : <MissingPage />;
}
