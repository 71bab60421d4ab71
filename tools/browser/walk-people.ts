import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';

import type { Browser, Page } from 'playwright-core';

import { graphql } from '../../test/kit/clients/requests.ts';
import { holdOpen, holdView } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** More than one page of people. */
const PEOPLE = 24;

/** People as an administrator sees them: found, paged, their sessions ended one by one and all, a budget for one. */
export async function walkPeople(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  await page.emulateMedia({ reducedMotion: 'reduce' });
  page.on('dialog', (question) => void question.accept());
  for (let index = 1; index < PEOPLE; index += 1) await signIn(url, randomBytes(16).toString('hex'));
  const digits = randomBytes(16).toString('hex');
  const tokens = [await signIn(url, digits), await signIn(url, digits)] as const;
  const { id } = tokens[0];
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await pageThrough(page, steps);
  await endSessions(url, page, steps, { id, tokens: tokens.map(({ token }) => token) });
  await makeBudgets(page, steps, id);
  await watched.finish(steps, 'people');
}

/** Somebody whom only the mini-program's platform knows; the same digits are the same person. */
async function signIn(url: string, digits: string): Promise<{ readonly id: string; readonly token: string }> {
  const input = { platform: 'wechat', code: `visitor_${digits}-${randomBytes(4).toString('hex')}` };
  const { data } = await graphql(
    url,
    'mutation ($input: PlatformSignInInput!) { signInWithPlatform(input: $input) { user { id } accessToken } }',
    { input },
  );
  assert.ok(data?.signInWithPlatform, 'a mini-program signs in');
  return { id: data.signInWithPlatform.user.id, token: data.signInWithPlatform.accessToken };
}

async function pageThrough(page: Page, { holds }: Steps): Promise<void> {
  const people = page.getByRole('region', { name: 'People' }).locator('tbody tr');
  await people.first().waitFor();
  holds('people: a page of them is shown', await people.count(), 20);
  // The audit log has the same button further down.
  await page.getByRole('button', { name: 'Show more' }).first().click();
  await people.nth(20).waitFor();
  holds('people: and the next one below it', (await people.count()) >= PEOPLE, true);
}

interface Somebody {
  readonly id: string;
  readonly tokens: readonly string[];
}

async function endSessions(url: string, page: Page, steps: Steps, { id, tokens }: Somebody): Promise<void> {
  const { holds } = steps;
  const people = page.getByRole('region', { name: 'People' }).locator('tbody tr');
  await page.getByRole('searchbox', { name: 'Name, address or id' }).fill(id.slice(4).toLowerCase());
  await page.keyboard.press('Enter');
  await people.nth(1).waitFor({ state: 'detached' });
  holds('people: one is found by a part of their id', await people.locator('td[title]').textContent(), id);
  await people.getByRole('button', { name: 'Sessions' }).click();
  const dialog = page.getByRole('dialog', { name: /^Sessions of/ });
  const sessions = dialog.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await sessions.nth(1).waitFor();
  await holdView(page, steps, 'people: their sessions');
  await sessions.first().getByRole('button', { name: 'End' }).click();
  await sessions.nth(1).waitFor({ state: 'detached' });
  holds('people: the newest session is ended alone', await areOpen(url, tokens), [true, false]);
  await dialog.getByRole('button', { name: 'End all sessions' }).click();
  await dialog.waitFor({ state: 'detached' });
  holds('people: then every one', await areOpen(url, tokens), [false, false]);
  holds(
    'people: who is signed in nowhere has no sessions to end',
    await people.getByRole('button', { name: 'Sessions' }).isDisabled(),
    true,
  );
}

async function areOpen(url: string, tokens: readonly string[]): Promise<readonly boolean[]> {
  const answers = tokens.map((token) =>
    graphql(url, '{ viewer { id } }', {}, { authorization: `Bearer ${token}` }),
  );
  return (await Promise.all(answers)).map(({ errors }) => errors === undefined);
}

async function makeBudgets(page: Page, steps: Steps, id: string): Promise<void> {
  const { holds } = steps;
  await page.getByLabel('Name', { exact: true }).fill('bounded by a budget');
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByRole('cell', { name: 'bounded by a budget' }).waitFor();
  await page.getByRole('link', { name: 'Usage', exact: true }).first().click();
  await page.getByRole('button', { name: 'New budget' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('searchbox').fill(id.slice(0, 14));
  await dialog.getByRole('radio', { name: id }).check();
  await dialog.getByLabel('Name', { exact: true }).fill('of a person');
  await dialog.getByLabel('Most at once').fill('2');
  await holdOpen(page, steps, 'people: the choice of a person for a budget');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Change of a person' }).waitFor();
  await page.getByRole('button', { name: 'New budget' }).click();
  await dialog.getByLabel('Whose work').selectOption('KEY');
  const keys = dialog.getByLabel('A service key');
  const option = keys.getByRole('option', { name: /^bounded by a budget/ });
  await keys.selectOption(await option.getAttribute('value'));
  await dialog.getByLabel('Name', { exact: true }).fill('of a key');
  await dialog.getByLabel('Most at once').fill('2');
  await dialog.getByRole('button', { name: 'Save' }).click();
  for (const name of ['of a key', 'of a person']) {
    await page.getByRole('button', { name: `Change ${name}` }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: `Change ${name}` }).waitFor({ state: 'detached' });
  }
  holds(
    'people: budgets of a person and a key are chosen from lists, and deleted',
    await page.getByRole('button', { name: /^Change/ }).count(),
    0,
  );
}
