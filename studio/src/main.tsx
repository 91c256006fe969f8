import './styles/theme.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/controls.css';
import './styles/pages.css';
import './styles/make.css';
import { render } from 'preact';
import { App } from './app';
import { applyTheme } from './theme';

applyTheme();
render(<App />, document.getElementById('app')!);
