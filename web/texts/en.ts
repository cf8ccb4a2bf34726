import { audit } from './en/audit';
import { controls } from './en/controls';
import { frameworks } from './en/frameworks';
import { gate } from './en/gate';
import { home } from './en/home';
import { inbox } from './en/inbox';
import { people } from './en/people';
import { plan } from './en/plan';
import { policies } from './en/policies';
import { risks } from './en/risks';
import { settings } from './en/settings';
import { shared } from './en/shared';
import { soa } from './en/soa';
import { tasks } from './en/tasks';
import { trust } from './en/trust';
import { vendors } from './en/vendors';

export default {
  ...shared,
  audit,
  controls,
  frameworks,
  gate,
  home,
  inbox,
  people,
  plan,
  policies,
  risks,
  settings,
  soa,
  tasks,
  trust,
  vendors,
};
