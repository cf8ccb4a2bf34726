import './look/fonts.css';
import './look/parts.css';
import './look/tokens.css';
import './look/print.css';
import './look/mantine.css';
import { speak } from './texts';

// Everything else may use the texts as soon as it is loaded.
await speak();
const { start } = await import('./app');
start(document.getElementById('root') as HTMLElement);
