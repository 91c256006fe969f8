/** Light, dark, or as the system says. */
import { preferences } from './preferences';

export function applyTheme(): void {
  preferences.subscribe(({ theme }) => show(theme));
  show(preferences.get().theme);
}

function show(theme: string): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** The value of a colour or length that the theme's style sheet names. */
export function themeValue(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
