import type { Browser, Page } from 'playwright-core';

import { graphql } from '../../test/kit/clients/requests.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

/** The console in Chinese, as an administrator sees it: no sentence of it is English, whatever the server says in codes. */
export async function walkChinese(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  const { holds } = steps;
  const headers = { authorization: `Bearer ${key}` };
  const tasks = await startTasks(url, headers);
  const names = await readNames(url, headers);
  await page.goto(`${url}/console/keys`);
  await page.getByRole('button', { name: '简体中文' }).click();
  await page.getByLabel('服务密钥或访问令牌').fill(key);
  await page.getByRole('button', { name: '用密钥登录' }).click();
  await page.getByRole('button', { name: '退出' }).waitFor();
  const look = async (place: string) => {
    await page.locator('main h1').waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle');
    holds(`chinese: ${place} has no English sentence`, await findEnglish(page, names), []);
  };
  for (const place of [
    '',
    'gallery',
    'cast',
    'tasks',
    'shop',
    'models',
    'usage',
    'keys',
    'start',
    'workflows',
  ]) {
    await goTo(page, place);
    await look(place === '' ? 'studio' : place);
  }
  holds('chinese: comments of the snippets are Chinese', await findComments(page), []);
  await lookAtStudio(page, look);
  for (const id of tasks) {
    await goTo(page, 'tasks');
    await page.locator(`tr[data-task="${id}"] a`).first().click();
    await page.getByRole('heading', { name: '时间线' }).waitFor();
    await look('a task');
  }
  await lookAtShop(page, look);
  await watched.finish(steps, 'chinese');
}

type Look = (place: string) => Promise<void>;

/** By the link at the side, as a load would end the sign-in. */
async function goTo(page: Page, place: string): Promise<void> {
  await page.locator(`nav [data-place][href$="/console/${place}"]`).click();
  await page.waitForURL((url) => url.pathname === `/console/${place}`);
}

async function lookAtStudio(page: Page, look: Look): Promise<void> {
  await goTo(page, '');
  const tabs = page.getByRole('tablist').first().getByRole('tab');
  for (let index = 0; index < (await tabs.count()); index += 1) {
    await tabs.nth(index).click();
    await look(`studio ${await tabs.nth(index).innerText()}`);
  }
}

async function lookAtShop(page: Page, look: Look): Promise<void> {
  for (const template of ['Poster', 'Sketch']) {
    await goTo(page, 'shop');
    await page.getByRole('button', { name: new RegExp(`^${template}`) }).click();
    await page.getByRole('form').waitFor();
    await look(`shop ${template}`);
  }
  for (const part of ['执行', '付款', '管理']) {
    await goTo(page, 'shop');
    await page.getByRole('button', { name: part, exact: true }).click();
    await look(`shop ${part}`);
  }
  await page.getByRole('link', { name: 'Poster' }).first().click();
  await look('a template');
}

/** A refusal of the sandbox's Midjourney, a shape that is met approximately, a recipe of several steps. */
const STARTS = [
  'mutation { task: generateImage(input: { generator: "imga", prompt: "nsfw-test-banned" }) { id } }',
  'mutation { task: generateImage(input: { generator: "union", prompt: "tower", aspectRatio: "16:9" }) { id } }',
  'mutation { task: createTask(taskType: "vlog", prompt: "tower") { id } }',
];

async function startTasks(url: string, headers: Record<string, string>): Promise<readonly string[]> {
  const answers = await Promise.all(STARTS.map((start) => graphql(url, start, {}, headers)));
  return answers.map(({ data }) => String(data?.task.id));
}

/** What is data and not the console's text: names of models and generators, names and texts of templates. */
async function readNames(url: string, headers: Record<string, string>): Promise<readonly string[]> {
  const { data } = await graphql(
    url,
    '{ models { name } templatesConnection(first: 100) { edges { node { name description } } } }',
    {},
    headers,
  );
  const names: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') names.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect(data);
  return names.filter((name) => name.includes(' ')).toSorted((one, other) => other.length - one.length);
}

/** Three words in a row; a list of formats (`wav, flac, pcm`) is none. */
const SENTENCE = /[A-Za-z’']{2,}(?: [A-Za-z’']{2,}){2,}/;
/** Texts and labels that are shown, but for code and for what is marked as English. */
const TEXTS = `(() => {
  const OTHER = 'code, pre, kbd, .font-mono, textarea, [lang="en"], script, style';
  const all = [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && !one.closest(OTHER));
  const words = all.flatMap((one) => [...one.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data));
  const labels = all.flatMap((one) =>
    ['aria-label', 'title', 'placeholder', 'alt'].map((name) => one.getAttribute(name) ?? ''));
  return [...new Set([...words, ...labels, document.title])];
})()`;

async function findEnglish(page: Page, names: readonly string[]): Promise<readonly string[]> {
  const texts = await page.evaluate<string[]>(TEXTS);
  return texts
    .map((text) => names.reduce((rest, name) => rest.replaceAll(name, ''), text))
    .filter((text) => SENTENCE.test(text));
}

/** Comments of the snippets of "Start here" without a Chinese character; what is to be installed is none. */
async function findComments(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click();
    const code = await page.locator('[role=tabpanel] pre').innerText();
    found.push(...code.split('\n').filter((line) => /^\s*(\/\/|#) /.test(line)));
  }
  return found.filter((line) => !/\p{Script=Han}|npm |mutation /u.test(line));
}
