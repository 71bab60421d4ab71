import {
  createPrice,
  createProduct,
  deleteProduct,
  listPrices,
  listProducts,
  updatePrice,
  updateProduct,
  type StripeContext,
} from '../objects/catalog.ts';
import { createSession, expireSession, listSessions } from '../objects/checkout.ts';
import { ACCOUNT_SETTINGS } from '../objects/defaults.ts';
import { invalid, StripeFailure } from '../objects/failure.ts';
import { booleanIn, listIn, metadataIn, textIn, type Form } from '../objects/form.ts';
import { createRefund } from '../objects/money.ts';
import type { Kind, StripeObject } from '../objects/state.ts';
import { expanded, PAGE, toPage } from './pages.ts';

/** The API operations that Kiln uses, with their parameters: unknown ones are refused, as at Stripe. */
export interface OperationScene extends StripeContext {
  readonly form: Form;
  /** The id in the path; empty where there is none. */
  readonly id: string;
  readonly toPageUrl: (sessionId: string) => string;
  readonly accountId: string;
}

interface Operation {
  /** The kind of object that it lists; absent where it lists members of one object, or nothing. */
  readonly lists?: Kind;
  readonly takes: readonly string[];
  readonly run: (scene: OperationScene) => StripeObject | readonly StripeObject[];
}

const PRODUCT = [
  'name',
  'description',
  'active',
  'metadata',
  'images',
  'tax_code',
  'url',
  'statement_descriptor',
];
const SESSION = [
  'mode',
  'line_items',
  'success_url',
  'cancel_url',
  'client_reference_id',
  'metadata',
  'customer_email',
  'payment_intent_data',
  'expires_at',
  'allow_promotion_codes',
  'locale',
  'submit_type',
  'ui_mode',
  'customer_creation',
  'currency',
  'automatic_tax',
  'billing_address_collection',
  'invoice_creation',
  'allowed_payment_method_types',
  'excluded_payment_method_types',
  'payment_method_options',
];

const account: Operation = {
  takes: [],
  run: ({ accountId }) => ({
    id: accountId,
    object: 'account',
    capabilities: {},
    charges_enabled: true,
    country: 'US',
    default_currency: 'usd',
    details_submitted: true,
    email: 'operator@sandbox.example',
    metadata: {},
    payouts_enabled: true,
    settings: ACCOUNT_SETTINGS,
    type: 'standard',
  }),
};

/** Method and path, ids as `*`. */
const operations: Readonly<Record<string, Operation>> = {
  'GET account': account,
  'GET accounts/*': account,
  'POST products': {
    takes: ['id', ...PRODUCT, 'unit_label', 'shippable'],
    run: (scene) => createProduct(scene, scene.form),
  },
  'GET products': {
    lists: 'product',
    takes: ['active', 'ids', ...PAGE],
    run: (scene) => listProducts(scene, scene.form),
  },
  'GET products/*': one('product'),
  'POST products/*': {
    takes: [...PRODUCT, 'default_price', 'unit_label', 'shippable'],
    run: (scene) => updateProduct(scene, scene.id, scene.form),
  },
  'DELETE products/*': { takes: [], run: (scene) => deleteProduct(scene, scene.id) },
  'POST prices': {
    takes: [
      'product',
      'currency',
      'unit_amount',
      'active',
      'metadata',
      'nickname',
      'lookup_key',
      'transfer_lookup_key',
    ],
    run: (scene) => createPrice(scene, scene.form),
  },
  'GET prices': {
    lists: 'price',
    takes: ['active', 'product', 'lookup_keys', 'currency', 'type', ...PAGE],
    run: (scene) => listPrices(scene, scene.form),
  },
  'GET prices/*': one('price'),
  'POST prices/*': {
    takes: ['active', 'metadata', 'nickname', 'lookup_key', 'transfer_lookup_key'],
    run: (scene) => updatePrice(scene, scene.id, scene.form),
  },
  'POST checkout/sessions': {
    takes: SESSION,
    run: (scene) => createSession(scene, scene.form, scene.toPageUrl),
  },
  'GET checkout/sessions': {
    lists: 'checkout.session',
    takes: ['payment_intent', 'status', ...PAGE],
    run: (scene) => listSessions(scene, scene.form),
  },
  'GET checkout/sessions/*': one('checkout.session'),
  'GET checkout/sessions/*/line_items': {
    takes: PAGE.filter((name) => name !== 'created'),
    run: ({ state, id }) => state.get('checkout.session', id)['_items'] as readonly StripeObject[],
  },
  'POST checkout/sessions/*/expire': { takes: [], run: (scene) => expireSession(scene, scene.id) },
  'GET payment_intents/*': one('payment_intent'),
  'GET charges/*': one('charge'),
  'POST refunds': {
    takes: ['payment_intent', 'charge', 'amount', 'reason', 'metadata', 'instructions_email'],
    run: (scene) => createRefund(scene, scene.form),
  },
  'GET refunds': many('refund', ['payment_intent', 'charge']),
  'GET refunds/*': one('refund'),
  'POST refunds/*': {
    takes: ['metadata'],
    run: ({ state, id, form }) => {
      const refund = state.get('refund', id);
      refund['metadata'] = metadataIn(form, refund['metadata'] as Record<string, string>);
      return refund;
    },
  },
  'GET disputes': many('dispute', ['payment_intent', 'charge']),
  'GET events': {
    lists: 'event',
    takes: ['type', 'types', 'delivery_success', ...PAGE],
    run: ({ state, form }) => filterEvents(state.all('event'), form),
  },
  'GET events/*': one('event'),
};

function one(kind: Kind): Operation {
  return { takes: [], run: ({ state, id }) => state.get(kind, id) };
}

/** Parameters with arbitrary members. */
function many(kind: Kind, members: readonly string[]): Operation {
  return {
    lists: kind,
    takes: [...members, ...PAGE],
    run: ({ state, form }) =>
      state.all(kind).filter((thing) =>
        members.every((member) => {
          const wanted = textIn(form, member);
          return wanted === undefined || thing[member] === wanted;
        }),
      ),
  };
}

function filterEvents(events: readonly StripeObject[], form: Form): readonly StripeObject[] {
  const [type, types, success] = [
    textIn(form, 'type'),
    listIn(form, 'types'),
    booleanIn(form, 'delivery_success'),
  ];
  return events.filter(
    (event) =>
      (type === undefined || event['type'] === type) &&
      (types.length === 0 || types.includes(String(event['type']))) &&
      (success === undefined || (Number(event['pending_webhooks']) === 0) === success),
  );
}

/** Runs the operation of a method and path. Throws StripeFailure. */
export function runOperation(method: string, path: string, scene: Omit<OperationScene, 'id'>): unknown {
  const parts = path.split('/');
  const at = parts[0] === 'checkout' ? 2 : 1;
  const id = parts[at] ?? '';
  const pattern = parts.map((part, index) => (index === at ? '*' : part)).join('/');
  const operation = operations[`${method} ${pattern}`];
  if (operation === undefined) {
    throw new StripeFailure(404, {
      type: 'invalid_request_error',
      message: `Unrecognized request URL (${method}: /v1/${path}).`,
    });
  }
  const unknown = Object.keys(scene.form).find(
    (name) => name !== 'expand' && !operation.takes.includes(name),
  );
  if (unknown !== undefined)
    throw invalid(`Received unknown parameter: ${unknown}`, unknown, 'parameter_unknown');
  const result = operation.run({ ...scene, id });
  if (!Array.isArray(result)) return expanded(scene, result);
  const listed = result as readonly StripeObject[];
  const all = operation.lists === undefined ? listed : scene.state.all(operation.lists);
  return expanded(scene, toPage({ all, listed, path }, scene.form));
}
