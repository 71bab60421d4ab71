import type { Browser } from 'playwright-core';

import { holdView } from './page-faults.ts';
import type { Steps } from './steps.ts';
import { openPage } from './watch-page.ts';

const GRAPH = {
  4: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'sd_xl_base_1.0.safetensors' } },
  5: { class_type: 'EmptyLatentImage', inputs: { width: 512, height: 512, batch_size: 1 } },
  6: { class_type: 'CLIPTextEncode', inputs: { text: 'a poster', clip: ['4', 1] } },
  7: { class_type: 'CLIPTextEncode', inputs: { text: 'blurry', clip: ['4', 1] } },
  3: {
    class_type: 'KSampler',
    inputs: {
      seed: 5,
      steps: 20,
      cfg: 7,
      sampler_name: 'euler',
      scheduler: 'normal',
      denoise: 1,
      model: ['4', 0],
      positive: ['6', 0],
      negative: ['7', 0],
      latent_image: ['5', 0],
    },
  },
  8: { class_type: 'VAEDecode', inputs: { samples: ['3', 0], vae: ['4', 2] } },
  9: { class_type: 'SaveImage', inputs: { images: ['8', 0], filename_prefix: 'poster' } },
};

/** A graph becomes a function: its inputs are found, it is tried out, published, rolled back, and is a model of the Studio. */
export async function walkWorkflows(url: string, browser: Browser, steps: Steps, key: string): Promise<void> {
  const { holds } = steps;
  const watched = await openPage(browser, { origin: url });
  const { page } = watched;
  await page.goto(`${url}/console/keys`);
  await page.getByLabel('Service key or access token').fill(key);
  await page.getByRole('button', { name: 'Sign in with a key' }).click();
  await page.getByRole('link', { name: 'Workflows' }).first().click();
  await holdView(page, steps, 'workflows: the list');
  await page.getByRole('link', { name: 'New workflow' }).click();
  await page.getByLabel('Graph').fill('{"nodes": [], "links": []}');
  await page.getByText('This is the format of the editor').waitFor();
  await page.getByLabel('Graph').fill(JSON.stringify(GRAPH));
  const inputs = page.getByRole('region', { name: 'Inputs' });
  await inputs.getByLabel('Name of prompt').waitFor();
  holds('workflows: a graph says what it offers', (await inputs.getByRole('row').count()) > 5, true);
  await holdView(page, steps, 'workflows: the form');
  await page.getByLabel('Name', { exact: true }).fill('walked-poster');
  await page.getByLabel('What it is for').fill('Walked posters');
  await page.getByRole('button', { name: 'Save as a version' }).click();
  await page.getByRole('heading', { name: 'walked-poster' }).waitFor();
  await page.getByLabel('prompt', { exact: true }).fill('a heron');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('main img').first().waitFor();
  await holdView(page, steps, 'workflows: one with what it made');
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('button', { name: 'Withdraw' }).waitFor();
  await page.getByRole('link', { name: 'Next version' }).click();
  await inputs.getByLabel('Name of prompt').waitFor();
  await page.getByRole('button', { name: 'Save as a version' }).click();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('button', { name: 'Roll back to version 1' }).click();
  await page.getByRole('button', { name: 'Roll back to version 2' }).waitFor();
  await page.getByRole('button', { name: 'Open in Studio' }).click();
  const model = page.getByRole('combobox', { name: /^Model/ });
  await model.filter({ hasText: 'Walked posters' }).waitFor();
  holds('workflows: Studio offers it as a model', await model.count(), 1);
  await watched.finish(steps, 'workflows');
}
