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

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <NotFound />,
  errorComponent: ({ error }) => <Problem error={error} />,
});

const studio = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: StudioPage,
  validateSearch: (search: Record<string, unknown>): { readonly kind?: Tab; readonly chat?: string } => ({
    ...readTab(search['kind']),
    ...readTexts(search, ['chat']),
  }),
});

const tasks = createRoute({
  getParentRoute: () => root,
  path: '/tasks',
  validateSearch: (search: Record<string, unknown>): TasksSearch => ({
    ...readState(search['state']),
    ...(typeof search['type'] === 'string' ? { type: search['type'] } : {}),
    ...(typeof search['find'] === 'string' ? { find: search['find'] } : {}),
    ...readNarrowing(search),
  }),
  component: laterPage(async () => (await import('./pages/tasks/tasks-page.tsx')).TasksPage),
});

const task = createRoute({
  getParentRoute: () => root,
  path: '/tasks/$id',
  component: laterPage(async () => (await import('./pages/tasks/task-page.tsx')).TaskPage),
});

const gallery = createRoute({
  getParentRoute: () => root,
  path: '/gallery',
  validateSearch: (search: Record<string, unknown>): GallerySearch => ({
    ...readNarrowing(search),
    ...(typeof search['open'] === 'string' ? { open: search['open'] } : {}),
    ...(typeof search['board'] === 'string' ? { board: search['board'] } : {}),
    ...(search['starred'] === true ? { starred: true as const } : {}),
    ...(typeof search['find'] === 'string' ? { find: search['find'] } : {}),
    ...readFileKind(search['kind']),
  }),
  component: laterPage(async () => (await import('./pages/gallery/gallery-page.tsx')).GalleryPage),
});

const workflows = createRoute({
  getParentRoute: () => root,
  path: '/workflows',
  component: laterPage(async () => (await import('./pages/workflows/workflows-page.tsx')).WorkflowsPage),
});

const newWorkflow = createRoute({
  getParentRoute: () => root,
  path: '/workflows/new',
  validateSearch: (search: Record<string, unknown>) => readTexts(search, ['of']),
  component: laterPage(async () => (await import('./pages/workflows/new-workflow-page.tsx')).NewWorkflowPage),
});

const workflow = createRoute({
  getParentRoute: () => root,
  path: '/workflows/$name',
  component: laterPage(async () => (await import('./pages/workflows/workflow-page.tsx')).WorkflowPage),
});

const cast = createRoute({
  getParentRoute: () => root,
  path: '/cast',
  component: laterPage(async () => (await import('./pages/cast/cast-page.tsx')).CastPage),
});

const shared = createRoute({
  getParentRoute: () => root,
  path: '/shared/$token',
  component: laterPage(async () => (await import('./pages/shared/shared-page.tsx')).SharedPage),
});

const shop = createRoute({
  getParentRoute: () => root,
  path: '/shop',
  validateSearch: (search: Record<string, unknown>): ShopSearch => ({
    ...readTexts(search, ['template', 'of', 'user']),
    ...readDays(search),
    ...readView(search['view']),
    ...readPaymentStatus(search['status']),
  }),
  component: laterPage(async () => (await import('./pages/shop/shop-page.tsx')).ShopPage),
});

const execution = createRoute({
  getParentRoute: () => root,
  path: '/shop/executions/$taskId',
  component: laterPage(async () => (await import('./pages/shop/execution/execution-page.tsx')).ExecutionPage),
});

const payment = createRoute({
  getParentRoute: () => root,
  path: '/shop/payments/$id',
  component: laterPage(async () => (await import('./pages/shop/payment/payment-page.tsx')).PaymentPage),
});

const template = createRoute({
  getParentRoute: () => root,
  path: '/shop/templates/$code',
  component: laterPage(async () => (await import('./pages/shop/catalog/template-page.tsx')).TemplatePage),
});

const newTemplate = createRoute({
  getParentRoute: () => root,
  path: '/shop/new',
  component: laterPage(async () => (await import('./pages/shop/catalog/template-page.tsx')).NewTemplatePage),
});

const paid = createRoute({
  getParentRoute: () => root,
  path: '/shop/paid',
  validateSearch: (search: Record<string, unknown>): { readonly session?: string } =>
    readTexts(search, ['session']),
  component: laterPage(async () => (await import('./pages/shop/paid-page.tsx')).PaidPage),
});

const unpaid = createRoute({
  getParentRoute: () => root,
  path: '/shop/unpaid',
  component: laterPage(async () => (await import('./pages/shop/paid-page.tsx')).UnpaidPage),
});

const models = createRoute({
  getParentRoute: () => root,
  path: '/models',
  validateSearch: (search: Record<string, unknown>): { readonly find?: string } =>
    typeof search['find'] === 'string' ? { find: search['find'] } : {},
  component: laterPage(async () => (await import('./pages/models/models-page.tsx')).ModelsPage),
});

const machines = createRoute({
  getParentRoute: () => root,
  path: '/machines',
  component: laterPage(async () => (await import('./pages/machines/machines-page.tsx')).MachinesPage),
});

const usage = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  validateSearch: (search: Record<string, unknown>): UsageSearch => ({
    ...(typeof search['days'] === 'number' && search['days'] > 0 && search['days'] <= 366
      ? { days: Math.floor(search['days']) }
      : {}),
    ...(search['only'] === 'real' || search['only'] === 'sandbox' ? { only: search['only'] } : {}),
    ...readGroup(search['by']),
  }),
  component: laterPage(async () => (await import('./pages/usage/usage-page.tsx')).UsagePage),
});
const keys = createRoute({
  getParentRoute: () => root,
  path: '/keys',
  component: laterPage(async () => (await import('./pages/keys/keys-page.tsx')).KeysPage),
});

const start = createRoute({
  getParentRoute: () => root,
  path: '/start',
  component: laterPage(async () => (await import('./pages/start/start-page.tsx')).StartPage),
});

/** Which days and what usage is shown of, and what it is grouped by. */
interface UsageSearch {
  readonly days?: number;
  readonly only?: 'real' | 'sandbox';
  readonly by?: Group;
}

/** The group that an address names; none means models. */
function readGroup(name: unknown): { readonly by?: Group } {
  const found = GROUPS.find((group) => group === name);
  return found === undefined ? {} : { by: found };
}

/** What the list of tasks is filtered by. */
interface TasksSearch extends Narrowing {
  readonly state?: TaskState;
  readonly type?: string;
  readonly find?: string;
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

/** Which part of the shop is shown, and what its payments are filtered by. */
interface ShopSearch extends PaymentSearch {
  readonly view?: 'executions' | 'payments' | 'manage';
  readonly template?: string;
  readonly user?: string;
}

/** The part of the shop that an address names; none means what is for sale. */
function readView(name: unknown): Pick<ShopSearch, 'view'> {
  return name === 'executions' || name === 'payments' || name === 'manage' ? { view: name } : {};
}

/** The state of payments that an address filters by; none means all. */
function readPaymentStatus(name: unknown): Pick<ShopSearch, 'status'> {
  const found = STATUSES.find((status) => status === name);
  return found === undefined ? {} : { status: found };
}

/** The days that an address names; what is none is left out. */
function readDays(search: Record<string, unknown>): Pick<ShopSearch, 'from' | 'to'> {
  const days = readTexts(search, ['from', 'to']);
  return Object.fromEntries(
    Object.entries(days).filter(([, day]) => /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(Date.parse(day))),
  );
}

/** The members of an address that are texts. */
function readTexts<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): { readonly [Key in Name]?: string } {
  const found = names.flatMap((name) => {
    const text = search[name];
    return typeof text === 'string' && text !== '' ? [[name, text] as const] : [];
  });
  return Object.fromEntries(found) as { readonly [Key in Name]?: string };
}

/** The kind of file that an address filters by; none means all. */
function readFileKind(name: unknown): { readonly kind?: FileKind } {
  return name === 'image' || name === 'video' || name === 'audio' ? { kind: name } : {};
}

const STATUSES: readonly PaymentStatus[] = ['PENDING', 'COMPLETED', 'REFUNDED', 'FAILED', 'CANCELLED'];
const STATES: readonly TaskState[] = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'];

/** The state that an address filters by; none means all. */
function readState(name: unknown): { readonly state?: TaskState } {
  const found = STATES.find((state) => state === name);
  return found === undefined ? {} : { state: found };
}

/** The tab that an address names; none means pictures. */
function readTab(name: unknown): { readonly kind?: Tab } {
  const found = TABS.find(({ tab }) => tab === name);
  return found === undefined ? {} : { kind: found.tab };
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
