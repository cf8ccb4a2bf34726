/* What every page needs, and the first one. */
import { gate } from './gate';
import { home } from './home';
import { inbox } from './inbox';
import { security } from './security';
import { shared } from './shared';

export default { ...shared, gate, home, inbox, security };
