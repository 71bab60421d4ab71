import type { Browser, Page } from 'playwright-core';

import { graphql, until } from '../../test/kit/clients/requests.ts';
import { holdPages } from './page-faults.ts';
import { refusedAsUser, readToken } from './production/refused.ts';
import { type ProductionKiln, startProduction } from './production/start-production.ts';
import { useSeveralTabs } from './several-tabs.ts';
import type { Steps } from './steps.ts';
import { openPage, type WatchedPage } from './watch-page.ts';

/** Kiln in production with an identity provider: a visitor, a user, another one, and an administrator, each in a browser. */
export async function walkProduction(browser: Browser, steps: Steps): Promise<void> {
  const kiln = await startProduction();
  try {
    const ben = await open(browser, kiln);
    await comeAsVisitor(kiln, ben.page, steps);
    const token = await signIn(kiln, ben.page, steps, BEN);
    await lookAsUser(kiln, ben.page, steps);
    await refusedAsUser(kiln.localUrl, token, steps);
    const task = await make(kiln, ben.page, steps, { who: 'Ben', prompt: 'a fox of Ben' });
    const ada = await open(browser, kiln);
    await signIn(kiln, ada.page, steps, ADA);
    await seeNothing(kiln, ada.page, steps, task);
    await make(kiln, ada.page, steps, { who: 'Ada', prompt: 'a hare of Ada' });
    await ada.finish(steps, 'production, Ada', REFUSED);
    const operator = await open(browser, kiln);
    await signIn(kiln, operator.page, steps, OPERATOR);
    await lookAsAdministrator(kiln, operator.page, steps);
    await operator.finish(steps, 'production, the administrator', REFUSED);
    await stay(kiln, ben.page, steps);
    await giveBrowserAway(kiln, ben.page, steps);
    await ben.finish(steps, 'production, Ben', REFUSED);
  } finally {
    await kiln.close();
  }
}

/** Somebody whom the identity provider knows. */
interface Somebody {
  readonly subject: string;
  readonly name: string;
}

const BEN: Somebody = { subject: 'sandbox-ben', name: 'Ben' };
const ADA: Somebody = { subject: 'sandbox-ada', name: 'Ada' };
const OPERATOR: Somebody = { subject: 'sandbox-admin', name: 'Operator' };

/** What a browser says of a request of somebody whose session has ended, and of icons that the provider does not have. */
const REFUSED = /401 \(Unauthorized\)|favicon\.ico/;

function open(browser: Browser, { url, providerOrigin }: ProductionKiln): Promise<WatchedPage> {
  return openPage(browser, { origin: url, provider: providerOrigin });
}

async function comeAsVisitor({ url }: ProductionKiln, page: Page, { holds }: Steps): Promise<void> {
  const answer = await page.goto(url);
  const policy = (await answer?.headerValue('content-security-policy')) ?? '';
  holds('production: nothing may be loaded but what is allowed', /default-src 'none'/.test(policy), true);
  holds('production: the policy allows no scripts or styles in the page', /unsafe|nonce/.test(policy), false);
  await page.getByRole('heading', { name: 'Sign in first' }).waitFor();
  holds('production: a visitor is asked to sign in', await page.getByLabel('Prompt').count(), 0);
  await page.goto(`${url}/console/usage`);
  await page.getByRole('heading', { name: 'Sign in first' }).waitFor();
  await page.getByRole('link', { name: 'Sign in with a key' }).click();
  await page.getByLabel('Service key or access token').waitFor();
  holds('production: or to type a key in', new URL(page.url()).pathname, '/console/keys');
  await page.goto(`${url}/console/tasks?state=FAILED`);
}

/** Signs in through the pages of the identity provider; answers the access token, which no script of others sees. */
async function signIn(
  { url, providerOrigin }: ProductionKiln,
  page: Page,
  { holds }: Steps,
  { subject, name }: Somebody,
): Promise<string> {
  if (!page.url().startsWith(url)) await page.goto(`${url}/console/`);
  const left = page.url();
  await page.getByRole('button', { name: 'Sign in', exact: true }).first().click();
  await page.waitForFunction("document.title === 'Sign in (sandbox)'");
  holds(
    `production: ${name} signs in at the provider's own origin`,
    new URL(page.url()).origin,
    providerOrigin,
  );
  const answered = page.waitForResponse(/\/auth\/browser\/token$/);
  await page.click(`button[value="${subject}"]`);
  const token = await readToken(await answered);
  await page.getByRole('link', { name, exact: true }).waitFor();
  holds(`production: ${name} comes back to where they were, without a code in the address`, page.url(), left);
  const cookies = (await page.context().cookies(`${url}/auth/browser/`)).filter((one) => one.path !== '/');
  holds(
    `production: one cookie keeps ${name} signed in, for no script and no other site`,
    cookies.map(({ path, httpOnly, sameSite, secure }) => ({ path, httpOnly, sameSite, secure })),
    [{ path: '/auth/browser', httpOnly: true, sameSite: 'Strict', secure: true }],
  );
  holds(`production: scripts see no cookie of ${name}`, await page.evaluate('document.cookie'), '');
  return token;
}

/** The navigation of a user. */
const PLACES =
  'Studio, Gallery, Characters and voices, Tasks, Shop, Models, Usage, Account, Start here, Workflows';
/** Pages that only administrators have, by their addresses. */
const ADMINISTRATORS = ['machines', 'shop?view=manage', 'shop/new', 'shop/templates/poster'];

async function lookAsUser({ url }: ProductionKiln, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  const nav = page.getByRole('navigation', { name: 'Main' });
  const places = await nav.locator('[data-place]').allTextContents();
  holds('production: a user has these pages', places.join(', '), PLACES);
  for (const path of ADMINISTRATORS) {
    await page.goto(`${url}/console/${path}`);
    await page.getByRole('heading', { name: 'For administrators' }).waitFor();
    const controls = await page.locator('main :is(input, textarea, select, table)').count();
    holds(`production: /${path} says to a user that it is for administrators`, controls, 0);
  }
  await page.goto(`${url}/console/keys`);
  await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  holds(
    'production: their account has neither keys nor people nor the audit log',
    await page.getByRole('heading', { name: /^(Service keys|People|Audit log)$/ }).count(),
    0,
  );
  const paths = ['', 'gallery', 'tasks', 'models', 'usage', 'keys', 'start', ...ADMINISTRATORS];
  await holdPages(page, steps, { url, who: 'user in production', paths });
}

/** Makes an image in the Studio and finds it in the gallery, on Tasks and in usage; answers its task. */
async function make(
  { url }: ProductionKiln,
  page: Page,
  { holds }: Steps,
  { who, prompt }: { readonly who: string; readonly prompt: string },
): Promise<string> {
  await page.goto(`${url}/console/`);
  await page.getByLabel('Prompt').fill(prompt);
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('[data-tile="done"] img').waitFor();
  await page.getByRole('link', { name: 'Gallery', exact: true }).first().click();
  await page.getByRole('link', { name: prompt }).waitFor();
  holds(`production: ${who} has the image in the gallery`, await page.locator('[data-piece] a').count(), 1);
  await page.getByRole('link', { name: 'Usage', exact: true }).first().click();
  await page.getByRole('heading', { name: 'In total' }).waitFor();
  await page.getByRole('link', { name: 'Tasks', exact: true }).first().click();
  await page.getByRole('link', { name: prompt }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  holds(`production: ${who} sees no mark of a sandbox`, await page.getByText('Sandbox').count(), 0);
  return new URL(page.url()).pathname;
}

async function seeNothing(
  { url }: ProductionKiln,
  page: Page,
  { holds }: Steps,
  task: string,
): Promise<void> {
  await page.goto(`${url}/console/gallery`);
  await page.getByText('Nothing here yet').waitFor();
  await page.goto(`${url}/console/tasks`);
  await page.getByText('No tasks here').waitFor();
  await page.goto(`${url}${task}`);
  await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor();
  const fox = await page.getByText('a fox of Ben').count();
  holds("production: another user sees nothing of Ben's, nor finds it by its address", fox, 0);
}

async function lookAsAdministrator({ url }: ProductionKiln, page: Page, { holds }: Steps): Promise<void> {
  await page.goto(`${url}/console/gallery`);
  await page.getByRole('link', { name: 'a fox of Ben' }).waitFor();
  holds(
    'production: the administrator sees the images of both',
    await page.getByRole('link', { name: 'a hare of Ada' }).count(),
    1,
  );
  await page.goto(`${url}/console/tasks`);
  await page.getByRole('link', { name: 'a hare of Ada' }).click();
  await page.getByRole('heading', { name: 'Timeline' }).waitFor();
  await page.goto(`${url}/console/keys`);
  const people = page.getByRole('region', { name: 'People' }).locator('tbody tr');
  await people.nth(2).waitFor();
  holds('production: and everybody who has signed in', await people.count(), 3);
  await page.goto(`${url}/console/models`);
  await page.getByRole('heading', { name: 'Models and providers' }).waitFor();
  await page.goto(`${url}/console/shop?view=manage`);
  await page.getByRole('link', { name: 'New template' }).waitFor();
  holds(
    'production: and the pages of administrators',
    await page.getByRole('heading', { name: 'For administrators' }).count(),
    0,
  );
}

async function stay({ url, localUrl }: ProductionKiln, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  const answered = page.waitForResponse(/\/auth\/browser\/refresh$/);
  await page.goto(`${url}/console/gallery`);
  const token = await readToken(await answered);
  await page.getByRole('link', { name: 'a fox of Ben' }).waitFor();
  holds('production: a load of the page stays signed in', await page.locator('[data-piece] a').count(), 1);
  await useSeveralTabs(page, steps, { url, name: 'Ben', walk: 'production' });
  const ask = () => graphql(localUrl, '{ tasks { totalCount } }', {}, { authorization: `Bearer ${token}` });
  const { errors } = await until(ask, (answer) => answer.errors !== undefined, 5_000);
  const code = errors?.[0]?.extensions['code'];
  holds('production: a token of before the sign-out opens nothing', code, 'UNAUTHENTICATED');
}

/** Leaves for somebody else at the same browser: the provider forgets Ben only when it is told to. */
async function giveBrowserAway(kiln: ProductionKiln, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('button', { name: 'Sign in', exact: true }).first().click();
  await page.getByRole('link', { name: 'Ben', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('link', { name: 'Sign out there too' }).click();
  await page.waitForFunction("document.title === 'Sign out (sandbox)'");
  await page.click('button[value="yes"]');
  await page.getByRole('heading', { name: 'Sign in first' }).waitFor();
  holds('production: a sign-out at the provider leads back', new URL(page.url()).pathname, '/console/');
  await signIn(kiln, page, steps, ADA);
  await page.goto(`${kiln.url}/console/gallery`);
  await page.getByRole('link', { name: 'a hare of Ada' }).waitFor();
  holds(
    'production: who comes next at the browser sees their own',
    await page.getByText('a fox of Ben').count(),
    0,
  );
}
