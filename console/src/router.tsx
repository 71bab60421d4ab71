import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';

import { consolePath } from './api/addresses.ts';
import type { PaymentStatus, TaskState } from './api/documents/operations.ts';
import { type Narrowing, readNarrowing } from './library/narrowing.ts';
import type { FileKind } from './pages/gallery/gallery-item.tsx';
import type { PaymentSearch } from './pages/shop/payment-filters.tsx';
import { StudioPage } from './pages/studio/studio-page.tsx';
import { type Group, GROUPS } from './pages/usage/sums.ts';
import { laterPage } from './parts/page/later.tsx';
import { NotFound, Problem } from './parts/problem.tsx';
import { Shell } from './shell/shell.tsx';
import { type Tab, TABS } from './work/work.ts';

/** The addresses of the console. Filters and choices are in the address, so that every view can be sent to somebody. */

type Search = Record<string, unknown>;

const TAB_NAMES = TABS.map(({ tab }) => tab);
const STATES: readonly TaskState[] = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'];
const FILE_KINDS: readonly FileKind[] = ['image', 'video', 'audio'];
const SOURCES = ['real', 'sandbox'] as const;
const SHOP_VIEWS = ['executions', 'payments', 'manage'] as const;
const STATUSES: readonly PaymentStatus[] = ['PENDING', 'COMPLETED', 'REFUNDED', 'FAILED', 'CANCELLED'];

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <NotFound />,
  errorComponent: ({ error }) => <Problem error={error} />,
});

/** A page whose code is loaded when it is first opened, and whose address holds no choices. */
function page<const Path extends string>(path: Path, load: Parameters<typeof laterPage>[0]) {
  const component = laterPage(load);
  // Of another thing it is another page: nothing that is followed, filled in or said goes with it.
  return createRoute({ getParentRoute: () => root, path, component, remountDeps: ({ params }) => params });
}

const studio = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: StudioPage,
  validateSearch: (search: Search): { readonly kind?: Tab; readonly chat?: string } => ({
    ...readChoice(search, 'kind', TAB_NAMES),
    ...readTexts(search, ['chat']),
  }),
});

const tasks = createRoute({
  getParentRoute: () => root,
  path: '/tasks',
  validateSearch: (search: Search): TasksSearch => ({
    ...readChoice(search, 'state', STATES),
    ...readTexts(search, ['type', 'find']),
    ...readNarrowing(search),
  }),
  component: laterPage(async () => (await import('./pages/tasks/tasks-page.tsx')).TasksPage),
});

const task = page('/tasks/$id', async () => (await import('./pages/tasks/task-page.tsx')).TaskPage);

const gallery = createRoute({
  getParentRoute: () => root,
  path: '/gallery',
  validateSearch: (search: Search): GallerySearch => ({
    ...readNarrowing(search),
    ...readTexts(search, ['open', 'board', 'find']),
    ...(search['starred'] === true ? { starred: true as const } : {}),
    ...readChoice(search, 'kind', FILE_KINDS),
  }),
  component: laterPage(async () => (await import('./pages/gallery/gallery-page.tsx')).GalleryPage),
});

const workflows = page(
  '/workflows',
  async () => (await import('./pages/workflows/workflows-page.tsx')).WorkflowsPage,
);

const newWorkflow = createRoute({
  getParentRoute: () => root,
  path: '/workflows/new',
  validateSearch: (search: Search) => readTexts(search, ['of']),
  component: laterPage(async () => (await import('./pages/workflows/new-workflow-page.tsx')).NewWorkflowPage),
});

const workflow = page(
  '/workflows/$name',
  async () => (await import('./pages/workflows/workflow-page.tsx')).WorkflowPage,
);

const cast = page('/cast', async () => (await import('./pages/cast/cast-page.tsx')).CastPage);

const shared = page(
  '/shared/$token',
  async () => (await import('./pages/shared/shared-page.tsx')).SharedPage,
);

const shop = createRoute({
  getParentRoute: () => root,
  path: '/shop',
  validateSearch: (search: Search): ShopSearch => ({
    ...readTexts(search, ['template', 'of', 'user']),
    ...readDays(search),
    ...readChoice(search, 'view', SHOP_VIEWS),
    ...readChoice(search, 'status', STATUSES),
  }),
  component: laterPage(async () => (await import('./pages/shop/shop-page.tsx')).ShopPage),
});

const execution = page(
  '/shop/executions/$taskId',
  async () => (await import('./pages/shop/execution/execution-page.tsx')).ExecutionPage,
);

const payment = page(
  '/shop/payments/$id',
  async () => (await import('./pages/shop/payment/payment-page.tsx')).PaymentPage,
);

const template = page(
  '/shop/templates/$code',
  async () => (await import('./pages/shop/catalog/template-page.tsx')).TemplatePage,
);

const newTemplate = page(
  '/shop/new',
  async () => (await import('./pages/shop/catalog/template-page.tsx')).NewTemplatePage,
);

const paid = createRoute({
  getParentRoute: () => root,
  path: '/shop/paid',
  validateSearch: (search: Search) => readTexts(search, ['session']),
  component: laterPage(async () => (await import('./pages/shop/paid-page.tsx')).PaidPage),
});

const unpaid = page('/shop/unpaid', async () => (await import('./pages/shop/paid-page.tsx')).UnpaidPage);

const models = createRoute({
  getParentRoute: () => root,
  path: '/models',
  validateSearch: (search: Search) => readTexts(search, ['find']),
  component: laterPage(async () => (await import('./pages/models/models-page.tsx')).ModelsPage),
});

const machines = page(
  '/machines',
  async () => (await import('./pages/machines/machines-page.tsx')).MachinesPage,
);

const usage = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  validateSearch: (search: Search): UsageSearch => ({
    ...(typeof search['days'] === 'number' && search['days'] > 0 && search['days'] <= 366
      ? { days: Math.floor(search['days']) }
      : {}),
    ...readChoice(search, 'only', SOURCES),
    ...readChoice(search, 'by', GROUPS),
  }),
  component: laterPage(async () => (await import('./pages/usage/usage-page.tsx')).UsagePage),
});
const keys = page('/keys', async () => (await import('./pages/keys/keys-page.tsx')).KeysPage);

const start = page('/start', async () => (await import('./pages/start/start-page.tsx')).StartPage);

/** Which days and what usage is shown of, and what it is grouped by. */
interface UsageSearch {
  readonly days?: number;
  readonly only?: 'real' | 'sandbox';
  readonly by?: Group;
}

/** What the list of tasks is filtered by. */
interface TasksSearch extends Narrowing {
  readonly state?: TaskState;
  readonly type?: string;
  readonly find?: string;
}

/** Which part of the shop is shown, and what its payments are filtered by. */
interface ShopSearch extends PaymentSearch {
  readonly view?: (typeof SHOP_VIEWS)[number];
  readonly template?: string;
  readonly user?: string;
}

/** Which file is open, and what the gallery is filtered by. */
interface GallerySearch extends Narrowing {
  readonly open?: string;
  /** The board that is shown. */
  readonly board?: string;
  readonly starred?: true;
  readonly kind?: FileKind;
  readonly find?: string;
}

/** The days that an address names; what is none is left out. */
function readDays(search: Search): Pick<PaymentSearch, 'from' | 'to'> {
  const days = readTexts(search, ['from', 'to']);
  return Object.fromEntries(
    Object.entries(days).filter(([, day]) => /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day))),
  );
}

/** The members of an address that are texts. */
function readTexts<Name extends string>(
  search: Search,
  names: readonly Name[],
): { readonly [Key in Name]?: string } {
  const found = names.flatMap((name) => {
    const text = search[name];
    return typeof text === 'string' && text !== '' ? [[name, text] as const] : [];
  });
  return Object.fromEntries(found) as { readonly [Key in Name]?: string };
}

/** The member of an address that is one of these; left out when it is none. */
function readChoice<Name extends string, Choice extends string>(
  search: Search,
  name: Name,
  choices: readonly Choice[],
): { readonly [Key in Name]?: Choice } {
  const found = choices.find((choice) => choice === search[name]);
  return (found === undefined ? {} : { [name]: found }) as { readonly [Key in Name]?: Choice };
}

/** Makes the router of the console. */
export const createConsoleRouter = () =>
  createRouter({
    routeTree: root.addChildren([
      studio,
      gallery,
      cast,
      shared,
      tasks,
      task,
      shop,
      execution,
      payment,
      template,
      newTemplate,
      paid,
      unpaid,
      models,
      machines,
      workflows,
      newWorkflow,
      workflow,
      usage,
      keys,
      start,
    ]),
    basepath: consolePath === '' ? '/' : consolePath,
    // A page that fails leaves the rest of the console as it is.
    defaultErrorComponent: ({ error }) => <Problem error={error} />,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
