/** Routing by the address's hash: `#/gallery?q=heart` is the page `gallery` with the parameter `q`. */
import { createStore, useStore } from './store';

export interface Route {
  page: string;
  parameters: URLSearchParams;
}

const route = createStore<Route>(current());
addEventListener('hashchange', () => route.set(current()));

export function useRoute(): Route {
  return useStore(route);
}

export function href(page: string, parameters: Record<string, string> = {}): string {
  const query = new URLSearchParams(parameters).toString();
  return `#/${page}${query && `?${query}`}`;
}

export function go(page: string, parameters: Record<string, string> = {}): void {
  location.hash = href(page, parameters);
}

function current(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return { page: path, parameters: new URLSearchParams(query) };
}
