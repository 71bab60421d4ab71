/** Light or dark: the system's choice until somebody makes their own. */
const STORAGE_KEY = 'kiln.theme';

const stored = localStorage.getItem(STORAGE_KEY);
if (stored === 'light' || stored === 'dark') document.documentElement.dataset['theme'] = stored;

/** Switches between light and dark, and remembers it. */
export function toggleTheme(): void {
  const root = document.documentElement;
  const isDark = getComputedStyle(root).colorScheme === 'dark';
  const next = isDark ? 'light' : 'dark';
  root.dataset['theme'] = next;
  localStorage.setItem(STORAGE_KEY, next);
}
