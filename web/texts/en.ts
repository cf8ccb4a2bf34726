import first from './en/first';
import rest from './en/rest';

export default { ...first, ...rest };
