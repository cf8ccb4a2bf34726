/* What the other pages need. */
import { audit } from './audit';
import { controls } from './controls';
import { frameworks } from './frameworks';
import { people } from './people';
import { plan } from './plan';
import { policies } from './policies';
import { risks } from './risks';
import { settings } from './settings';
import { signIn } from './signIn';
import { soa } from './soa';
import { tasks } from './tasks';
import { trust } from './trust';
import { vendors } from './vendors';

export default { audit, controls, frameworks, people, plan, policies, risks, settings, signIn, soa, tasks, trust, vendors };
