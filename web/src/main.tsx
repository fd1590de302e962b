// Entry point of the page.
import { render } from 'preact';
import { handleLinks } from './address';
import { handleFileDrops } from './file_drop';
import { App } from './app';
import { startService } from './service';
import { startTheme } from './theme';

startTheme();
handleLinks();
handleFileDrops();
startService();
render(<App />, document.getElementById('app')!);
