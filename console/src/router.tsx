import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';

import { consolePath } from './api/addresses.ts';
import { StudioPage } from './pages/studio/studio-page.tsx';
import { Empty, Problem } from './parts/problem.tsx';
import { Shell } from './shell/shell.tsx';
import { t } from './text/text.ts';
import { type Tab, TABS } from './work/work.ts';

/** The addresses of the console. Filters and choices are in the address, so that every view can be sent to somebody. */

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Empty title={t('shell.notFound')} />,
  errorComponent: ({ error }) => <Problem error={error} />,
});

const studio = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: StudioPage,
  validateSearch: (search: Record<string, unknown>): { readonly kind?: Tab } => ({
    ...kindOf(search['kind']),
  }),
});

/** The tab that an address names; none means pictures. */
function kindOf(name: unknown): { readonly kind?: Tab } {
  const found = TABS.find(({ tab }) => tab === name);
  return found === undefined ? {} : { kind: found.tab };
}

/** The router of the console. */
export const router = createRouter({
  routeTree: root.addChildren([studio]),
  basepath: consolePath === '' ? '/' : consolePath,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
