import { newId } from '../../platform/ids.ts';
import type { ImageWork } from '../../subgraphs/media/domain/work/image.ts';
import type { RecipeWork } from '../../subgraphs/media/domain/work/recipe.ts';
import { PRICE } from './model-payments.ts';
import { ENDED } from './model-queue.ts';
import type { ModelProcess } from './process.ts';
import type { World } from './world.ts';

/** Work that is submitted, and executions that are bought. */

const RECIPE: RecipeWork = {
  kind: 'RECIPE',
  taskType: 'tea',
  prompt: 'a cup',
  aspectRatio: '1:1',
  templatePrompt: null,
  presetPrompts: ['one', 'two'],
};

/** A recipe of three steps, or an image at one of the generators. */
function createWork(choice: number): ImageWork | RecipeWork {
  const generator = [null, 'test', 'call', 'blind'][choice % 4] ?? null;
  return generator === null ? RECIPE : { kind: 'IMAGE', generator, prompt: 'a fox' };
}

/** Submits work that nobody pays for. */
export function submit({ taskIds }: World, { begin, service }: ModelProcess, choice: number): void {
  const id = newId();
  taskIds.push(id);
  const submission = { work: createWork(choice), fileIds: [], idempotencyKey: null, fingerprint: null };
  begin(() => service.start({ ...submission, id, owner: 'usr_model', onEnd: ENDED }));
}

/** Somebody has paid: the provider knows it, and we learn of it. */
export async function buy(world: World, { begin, commerce }: ModelProcess, choice: number): Promise<void> {
  const { pool, payments } = world;
  const id = `pay_${newId()}`;
  payments.charges.set(id, { refunds: [] });
  await pool.query(
    `insert into workflow.payments (id, owner, user_id, template_code, parameters, start, task_owner, amount, currency,
      price_id, expires_at, pp_session_id, fingerprint)
    values ($1, 'usr_model', 'usr_model', 'fox', '{}', $2, 'usr_model', $3, 'usd', 'price', now(), $1, '')`,
    [id, JSON.stringify(createWork(choice)), PRICE],
  );
  begin(() => commerce.reconcile(id));
}
