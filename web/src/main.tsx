// Where the page starts.
import { render } from 'preact';
import { catchLinks } from './address';
import { catchDrops } from './drops';
import { Frame } from './frame';
import { startTheme } from './theme';

startTheme();
catchLinks();
catchDrops();
render(<Frame />, document.getElementById('app')!);
