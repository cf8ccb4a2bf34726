import { audit } from './de/audit';
import { controls } from './de/controls';
import { frameworks } from './de/frameworks';
import { gate } from './de/gate';
import { home } from './de/home';
import { inbox } from './de/inbox';
import { people } from './de/people';
import { plan } from './de/plan';
import { policies } from './de/policies';
import { risks } from './de/risks';
import { settings } from './de/settings';
import { shared } from './de/shared';
import { soa } from './de/soa';
import { tasks } from './de/tasks';
import { trust } from './de/trust';
import { vendors } from './de/vendors';

import type { Texts } from './index';

const de: Texts = {
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
export default de;
