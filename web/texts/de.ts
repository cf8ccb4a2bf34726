import first from './de/first';
import rest from './de/rest';
import type { Texts } from './index';

const de: Texts = { ...first, ...rest };
export default de;
