import type { Browser, Page } from 'playwright-core';

import { holdOpen } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { compareResults } from './walk-compare.ts';
import { findModel, removeFiles, setOptions } from './walk-options.ts';
import { openPage } from './watch-page.ts';

/** The Studio beyond a first image: variants, inputs, other kinds of work, templates, chat. */
export async function walkStudio(url: string, browser: Browser, steps: Steps): Promise<void> {
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  await varyAndReuse(url, page, steps);
  await compareResults(url, page, steps);
  await paintMask(url, page, steps);
  await setOptions(url, page, steps);
  await findModel(url, page, steps);
  await otherKinds(url, page, steps);
  await runTemplate(page, steps);
  await chat(page, steps);
  await watched.finish(steps, 'studio');
}

async function varyAndReuse(url: string, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.goto(`${url}/console/`);
  await page.getByLabel('Prompt').fill('a nude statue');
  await page.getByText('A provider may refuse this').waitFor();
  holds(
    'studio: a prompt is looked over before it is sent',
    await page.locator('[data-note="warn"] li').count(),
    1,
  );
  await page.getByText('a harbour at dusk').click();
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('[data-tile="done"] img').waitFor();
  await page.getByRole('button', { name: 'Vary' }).click();
  await page.locator('[data-shot="done"]').nth(1).waitFor();
  holds('studio: a variant is made of an image', await page.locator('[data-shot]').count(), 2);
  await page.getByRole('button', { name: 'Again' }).click();
  await page.locator('[data-shot="done"]').nth(2).waitFor();
  holds('studio: the same is made again', await page.locator('[data-shot]').count(), 3);
  await page.getByRole('button', { name: 'Use as' }).click();
  await page.getByRole('button', { name: 'First frame of a video' }).waitFor();
  await holdOpen(page, steps, 'studio: what a result can be used as');
  await page.getByRole('button', { name: 'Reference for an image' }).click();
  await page.locator('[data-file] img').waitFor();
  await page.getByRole('button', { name: 'From the gallery' }).click();
  await page.locator('[data-picks] button').nth(1).waitFor();
  await holdOpen(page, steps, 'studio: the choice from the gallery');
  await page.locator('[data-picks] button').nth(1).click();
  await page.locator('[data-file] img').nth(1).waitFor();
  holds(
    'studio: references come from results and from the gallery',
    await page.locator('[data-file]').count(),
    2,
  );
}

/** A part of an image is drawn anew: the brush makes the mask. */
async function paintMask(url: string, page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.goto(`${url}/console/`);
  await page.getByRole('combobox', { name: /^Model/ }).click();
  await page.locator('[data-picker] [role=option]').first().waitFor();
  await holdOpen(page, steps, 'studio: the choice of a model');
  await page.locator('[data-picker] input').fill('flux-pro/v1/fill');
  await page.locator('[data-picker] [role=option]').first().click();
  // What was referred to before is kept.
  await removeFiles(page);
  const paint = page.getByRole('button', { name: 'Paint the mask' });
  holds('studio: a mask wants its image first', await paint.isDisabled(), true);
  await page.getByRole('button', { name: 'From the gallery' }).first().click();
  await page.locator('[data-picks] button').first().click();
  await paint.click();
  const canvas = page.getByRole('img', { name: 'Painted area' });
  const use = page.getByRole('button', { name: 'Use the mask' });
  await page.locator('[data-mask] img').waitFor();
  await page.evaluate(`document.querySelector('[data-mask] img').decode()`);
  const box = await canvas.boundingBox();
  const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 2];
  await page.mouse.move(x - 40, y);
  await page.mouse.down();
  await page.mouse.move(x + 40, y, { steps: 5 });
  await page.mouse.up();
  await holdOpen(page, steps, 'studio: the brush');
  await use.click();
  await page.locator('[data-file] img').nth(1).waitFor();
  holds('studio: the brush makes a mask, white on black', await readPixels(page), [255, 0]);
  await page.getByLabel('Prompt').fill('a small boat');
  const before = await page.locator('[data-shot="done"]').count();
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('[data-shot="done"]').nth(before).waitFor();
  holds('studio: a part of an image is drawn anew', await page.getByRole('alert').count(), 0);
}

/** How bright the mask is in its middle and in its corner. */
function readPixels(page: Page): Promise<unknown> {
  return page.evaluate(`(async () => {
    const image = document.querySelectorAll('[data-file] img')[1];
    await image.decode();
    const { naturalWidth: width, naturalHeight: height } = image;
    const context = new OffscreenCanvas(width, height).getContext('2d');
    context.drawImage(image, 0, 0);
    const at = (x, y) => context.getImageData(x, y, 1, 1).data[0];
    return [at(Math.floor(width / 2), Math.floor(height / 2)), at(0, 0)];
  })()`);
}

async function otherKinds(url: string, page: Page, { holds }: Steps): Promise<void> {
  await page.getByRole('tab', { name: 'Analysis' }).focus();
  await page.keyboard.press('6');
  await page.getByLabel('Workflow', { exact: true }).selectOption('text-to-image');
  await page.getByLabel('Prompt', { exact: true }).fill('a boat');
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.getByText(/, node \d/).waitFor();
  holds('studio: a ComfyUI workflow tells which node runs', new URL(page.url()).search, '?kind=comfy');
  await page.goto(`${url}/console/?kind=analysis`);
  await page.getByLabel('What to make').selectOption('DESCRIPTION');
  await page.getByRole('button', { name: 'From the gallery' }).click();
  await page.locator('[data-picks] button').first().click();
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('[data-tile="ended"] [data-said-text]').first().waitFor();
  holds(
    'studio: an image is described',
    await page.locator('[data-tile="ended"] [data-said-text]').count(),
    4,
  );
}

async function runTemplate(page: Page, { holds }: Steps): Promise<void> {
  await page.getByRole('tab', { name: 'Templates' }).click();
  await page.getByRole('button', { name: /^Poster/ }).click();
  await page.getByLabel('Prompt').fill('a paper crane');
  const before = await page.locator('[data-shot="done"]').count();
  await page.getByRole('button', { name: 'Make it' }).click();
  await page.locator('[data-shot="done"]').nth(before).waitFor();
  holds(
    'studio: a template is run by its own form',
    await page.locator('[data-batch] h2').first().textContent(),
    'a paper crane',
  );
}

/** A model that makes images answers with them, changes them when it is asked to, and they come back with the conversation. */
async function chatWithImages(page: Page, { holds }: Steps): Promise<void> {
  const log = page.getByRole('log');
  const made = log.getByRole('img', { name: 'Image made by the model' });
  const ask = async (words: string, count: number) => {
    await page.getByLabel('Your message').fill(words);
    await page.keyboard.press('Enter');
    await made.nth(count - 1).waitFor();
    await log
      .getByRole('button', { name: 'Answer again' })
      .nth(count - 1)
      .waitFor();
  };
  await page.getByRole('button', { name: 'New conversation' }).first().click();
  await page
    .getByLabel('Model', { exact: true })
    .selectOption({ label: 'Gemini 3.1 Flash Image · Google Gemini' });
  await ask('A fox at a kiln', 1);
  await ask('Make it redder', 2);
  await page.reload();
  await made.nth(1).waitFor();
  const widths = await made.evaluateAll((all) =>
    all.map((one) => (one as unknown as { naturalWidth: number }).naturalWidth),
  );
  holds('chat: a model answers with images, and changes them', widths.filter((width) => width > 0).length, 2);
  await page.getByRole('button', { name: /^Delete “A fox/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('link', { name: /All about kilns/ }).click();
}

/** A conversation is kept on the server: named, found again, with every version of a question and an answer. */
async function chat(page: Page, steps: Steps): Promise<void> {
  const { holds } = steps;
  await page.getByRole('tab', { name: 'Chat' }).click();
  await page.getByLabel('Your message').fill('Show me Markdown about kilns.');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Answer again' }).waitFor();
  holds(
    'chat: an answer is streamed, its Markdown drawn',
    await page.locator('[data-markdown] table').count(),
    1,
  );
  holds('chat: code of an answer can be copied', await page.locator('[data-code] button').count(), 1);
  holds('chat: no tag of an answer becomes an element', await page.locator('[data-markdown] b').count(), 0);
  await page.getByRole('button', { name: 'Answer again' }).click();
  await page.locator('[data-said="assistant"] [data-branches]').waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByRole('textbox', { name: 'Edit' }).fill('What are glazes made of?');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Answer again' }).waitFor();
  holds(
    'chat: an edited question is a version',
    await page.locator('[data-said="user"] .tabular-nums').innerText(),
    '2 of 2',
  );
  await page.locator('[data-said="user"]').getByRole('button', { name: 'Previous version' }).click();
  await page.getByText('Show me Markdown about kilns.').last().waitFor();
  await page.getByRole('button', { name: /^Rename “Show me/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('All about kilns');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('link', { name: /All about kilns/ }).waitFor();
  await page.getByRole('button', { name: 'Answer again' }).click();
  await page.getByText('3 of 3').waitFor();
  await page.reload();
  await page.locator('[data-said="assistant"]').waitFor();
  holds(
    'chat: a reload brings it back',
    await page.locator('[data-said="assistant"] .tabular-nums').innerText(),
    '3 of 3',
  );
  await page.getByLabel('Search conversations').fill('GLAZES');
  await page.getByRole('link', { name: /All about kilns/ }).waitFor();
  await page.getByLabel('Search conversations').fill('porcelain');
  await page.getByText('No conversation has these words.').waitFor();
  await page.getByLabel('Search conversations').fill('');
  await page.getByRole('button', { name: 'Settings' }).click();
  await holdOpen(page, steps, 'chat: its settings');
  await page.getByLabel('Instructions for the model').fill('Be short.');
  await page.keyboard.press('Escape');
  await page
    .locator('summary', { has: page.locator('svg') })
    .first()
    .click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'As Markdown' }).click(),
  ]);
  holds('chat: it is exported', file.suggestedFilename(), 'All-about-kilns.md');
  await chatWithImages(page, steps);
  await page.getByRole('button', { name: /^Delete “All/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Your conversations will be listed here.').waitFor();
}
