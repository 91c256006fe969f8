/** The pages, in the order of the menu. To add one, write its file and add its line here. */
import type { FunctionComponent } from 'preact';
import type { IconName } from './components/icon';
import { ComparePage } from './pages/compare';
import { DialoguePage } from './pages/dialogue';
import { DictionaryPage } from './pages/dictionary';
import { GalleryPage } from './pages/gallery';
import { JobsPage } from './pages/jobs';
import { LivePage } from './pages/live';
import { MixPage } from './pages/mix';
import { ProvenancePage } from './pages/provenance';
import { SettingsPage } from './pages/settings';
import { SpeakPage } from './pages/speak';
import { VoicesPage } from './pages/voices';

export interface PageEntry {
  name: string;
  title: string;
  icon: IconName;
  section: 'Listen' | 'Make' | 'Server';
  Page: FunctionComponent;
}

export const PAGES: readonly PageEntry[] = [
  { name: 'speak', title: 'Speak', icon: 'speak', section: 'Listen', Page: SpeakPage },
  { name: 'gallery', title: 'Gallery', icon: 'gallery', section: 'Listen', Page: GalleryPage },
  { name: 'mix', title: 'Mix', icon: 'mix', section: 'Listen', Page: MixPage },
  { name: 'compare', title: 'Compare', icon: 'compare', section: 'Listen', Page: ComparePage },
  { name: 'voices', title: 'My voices', icon: 'voices', section: 'Make', Page: VoicesPage },
  { name: 'dialogue', title: 'Dialogue', icon: 'dialogue', section: 'Make', Page: DialoguePage },
  { name: 'dictionary', title: 'Dictionary', icon: 'dictionary', section: 'Make', Page: DictionaryPage },
  { name: 'jobs', title: 'Books', icon: 'jobs', section: 'Make', Page: JobsPage },
  { name: 'provenance', title: 'Provenance', icon: 'search', section: 'Server', Page: ProvenancePage },
  { name: 'live', title: 'Live', icon: 'live', section: 'Server', Page: LivePage },
  { name: 'settings', title: 'Settings', icon: 'settings', section: 'Server', Page: SettingsPage },
];
