import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { silentLogger } from '../../platform/process/logger.ts';
import { createStripeStandIn, type StripeStandIn } from '../../sandbox/stripe/stripe.ts';
import { temporaryFolder } from '../../sandbox/test-kit.ts';
import { createStripe } from '../../subgraphs/workflow/payments/provider/stripe.ts';

/**
 * What the stand-in answers has the shapes of the installed SDK: every answer of a whole sale becomes a literal of the
 * SDK's own type, and the compiler says which members are missing, unknown or of another kind, nested ones too.
 */

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const compiler = path.join(root, 'node_modules/typescript/bin/tsc');

let standIn: StripeStandIn;
let folder: string;
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  const home = await temporaryFolder();
  ({ folder } = home);
  cleanups.push(home.remove);
  standIn = await createStripeStandIn({
    dataDir: folder,
    pageUrl: 'http://127.0.0.1:1/pay',
    webhookUrl: null,
    logger: silentLogger(),
  });
  cleanups.push(() => standIn.close());
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
});
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

async function answer(request: string): Promise<object> {
  const response = await fetch(`${standIn.url}/v1/${request}`, {
    headers: { authorization: `Bearer ${standIn.secretKey}` },
  });
  if (!response.ok) throw new Error(`${request} is answered ${response.status}`);
  return (await response.json()) as object;
}

/** A sale with everything that can come of it; answers one object of each type, as it is at several times. */
async function everything(): Promise<readonly (readonly [type: string, value: object])[]> {
  const { secretKey, webhookSecret, url, control, state } = standIn;
  const provider = createStripe({ secretKey, webhookSecrets: [webhookSecret], baseUrl: url });
  const { catalog } = provider;
  const about = { templateCode: 'poster', name: 'Poster', description: null, isActive: true };
  const productId = await catalog.createProduct({ ...about, idempotencyKey: 'product' });
  const price = {
    productId,
    amount: 500,
    currency: 'usd',
    lookupKey: 'test:poster',
    idempotencyKey: 'price',
  };
  const priceId = await catalog.createPrice(price);
  await catalog.updateProduct(productId, { ...about, description: 'One poster', defaultPriceId: priceId });
  const opened = (paymentId: string) =>
    provider.createCheckout({
      paymentId,
      priceId,
      templateCode: 'poster',
      userId: 'usr_anna',
      successUrl: 'http://127.0.0.1:1/success?session_id={CHECKOUT_SESSION_ID}',
      cancelUrl: 'http://127.0.0.1:1/cancel',
      expiresAt: new Date(Date.now() + 3_600_000),
    });
  const [paid, late, open, ended] = [
    await opened('1'),
    await opened('2'),
    await opened('3'),
    await opened('4'),
  ];
  await control.pay(paid.sessionId);
  await control.pay(late.sessionId, 'delayed');
  await control.pay(open.sessionId, 'decline');
  await provider.expireCheckout(ended.sessionId);
  const { paymentIntentId } = await provider.readCheckoutState(paid.sessionId);
  const asked = {
    paymentId: '1',
    paymentIntentId: paymentIntentId ?? '',
    reason: 'TECHNICAL_ISSUE',
  } as const;
  const { id: refundId } = await provider.refund({ ...asked, refundId: 'r1', amount: 100 });
  const { id: failedId } = await provider.refund({ ...asked, refundId: 'r2', amount: 100 });
  await control.failRefund(failedId);
  await control.dispute(paid.sessionId);
  await control.settle(late.sessionId, true);

  const of = async (type: string, requests: readonly string[]) =>
    Promise.all(requests.map(async (request) => [type, await answer(request)] as const));
  const ids = (kind: Parameters<typeof state.all>[0]) => state.all(kind).map(({ id }) => id);
  const sessions = [paid, late, open, ended].map(({ sessionId }) => `checkout/sessions/${sessionId}`);
  return (
    await Promise.all([
      of('Account', ['account']),
      of('Product', [`products/${productId}`]),
      of('Price', [`prices/${priceId}`, `prices/${priceId}?expand[]=product`]),
      of('Checkout.Session', [...sessions, `${sessions[0]}?expand[]=payment_intent.latest_charge`]),
      of('ApiList<Stripe.LineItem>', [`${sessions[0]}/line_items`]),
      of(
        'PaymentIntent',
        ids('payment_intent').map((id) => `payment_intents/${id}`),
      ),
      of(
        'Charge',
        ids('charge').map((id) => `charges/${id}`),
      ),
      of('Refund', [`refunds/${refundId}`, `refunds/${failedId}`]),
      of('ApiList<Stripe.Dispute>', [`disputes?payment_intent=${paymentIntentId}`]),
      of('ApiList<Stripe.Checkout.Session>', ['checkout/sessions?limit=2']),
      of(
        'Event',
        ids('event').map((id) => `events/${id}`),
      ),
    ])
  ).flat();
}

/** As TypeScript source. Decimals go over the wire as text; the SDK makes objects of them. */
function literal(value: unknown): string {
  return JSON.stringify(value).replaceAll(/("\w+_decimal"):("[^"]*")/g, '$1:decimal');
}

interface Typed {
  readonly type: string;
  readonly value: object;
}

/** What the compiler says of a file in which each is a literal of its type; both files at once, as each run reads the whole SDK. */
async function compile(files: Readonly<Record<string, readonly Typed[]>>): Promise<(file: string) => string> {
  for (const [file, values] of Object.entries(files)) {
    const lines = values.map(
      ({ type, value }, index) => `export const value${index}: Stripe.${type} = ${literal(value)};`,
    );
    const head = ["import type { Stripe } from 'stripe';", 'declare const decimal: Stripe.Decimal;'];
    await writeFile(path.join(folder, file), [...head, ...lines].join('\n'));
  }
  const said = await run(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], {
    // It names files relative to here.
    cwd: folder,
    maxBuffer: 1 << 26,
  }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
  return (file) =>
    said
      .split('\n')
      .filter((line) => line.startsWith(file))
      .join('\n');
}

it('answers with the types of the installed SDK, and would be caught with a member too few, too many, or of another kind', async () => {
  const answers = (await everything()).map(([type, value]) => ({ type, value }));
  expect(answers.length).toBeGreaterThan(20);
  const [productId] = standIn.state.all('product').map(({ id }) => id);
  const product = (await answer(`products/${productId}`)) as Readonly<Record<string, unknown>>;
  const { images: _, ...less } = product;
  const wrong = [less, { ...product, colour: 'red' }, { ...product, active: 'yes' }];
  const said = await compile({
    'answers.ts': answers,
    'wrong.ts': wrong.map((value) => ({ type: 'Product', value })),
  });
  expect(said('answers.ts')).toBe('');
  expect(said('wrong.ts').match(/error TS\d+/g)).toEqual(['error TS2741', 'error TS2353', 'error TS2322']);
});
