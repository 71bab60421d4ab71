import { useQuery, useMutation } from '@apollo/client/react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { useCaller } from '../api/caller.ts';
import type { CallerQuery, ShopQuery } from '../api/documents/operations.ts';
import { CheckoutDocument, ExecuteTemplateDocument } from '../api/documents/shop.ts';
import { ComfyWorkflowsDocument } from '../api/documents/studio.ts';
import { sendOnce } from '../api/send-once.ts';
import { minorMoneyText } from '../parts/money.ts';
import { t } from '../text/text.ts';
import { makeParameters, type Values } from '../work/work.ts';

/** For whom things are bought here, and how a browser that went away to pay finds back to its form. */

const NAME = 'kiln.buyer';
const LEFT = 'kiln.checkout';

/** The name that a visitor's purchases carry, by which this browser finds them again. */
function visitorName(): string {
  const known = localStorage.getItem(NAME);
  if (known !== null) return known;
  const name = `visitor-${crypto.randomUUID()}`;
  localStorage.setItem(NAME, name);
  return name;
}

/** What a buyer is called: by name, by address, as a visitor, else by id. */
export function buyerText({
  userId,
  user,
}: {
  readonly userId: string;
  readonly user: { readonly name: string | null; readonly email: string | null } | null;
}): string {
  const [, visitor] = /^visitor-(\w{8})-/.exec(userId) ?? [];
  const id = visitor === undefined ? userId : t('shop.visitor', { id: visitor });
  return user?.name ?? user?.email ?? id;
}

/** Who buys: the user, or the visitor's name; null for a key, which buys nothing for itself. */
export function findBuyer(caller: CallerQuery['caller'] | undefined): string | null {
  if (caller?.kind === 'USER') return caller.id;
  return caller?.kind === 'ANONYMOUS' ? visitorName() : null;
}

/** Whose lists are shown: a visitor's by their name, everybody else's by who they are. */
export function listedFor(caller: CallerQuery['caller'] | undefined): string | null {
  return caller?.kind === 'ANONYMOUS' ? visitorName() : null;
}

/** A checkout that this tab has left for. */
interface LeftCheckout {
  readonly paymentId: string;
  readonly code: string;
  /** What the form held. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Remembers a checkout over the way to the payment page and back. */
function leaveFor(checkout: LeftCheckout): void {
  sessionStorage.setItem(LEFT, JSON.stringify(checkout));
}

/** The checkout that this tab has left for; null when there is none. */
export function leftCheckout(): LeftCheckout | null {
  const text = sessionStorage.getItem(LEFT);
  return text === null ? null : (JSON.parse(text) as LeftCheckout);
}

/** Forgets it: it was paid, or its form is filled again. */
export function forgetCheckout(): void {
  sessionStorage.removeItem(LEFT);
}

/** A template of the catalog. */
export type Template = NonNullable<ShopQuery['templatesConnection']>['edges'][number]['node'];

/** Whether a run costs nothing: its own price stands in place of that of its credits. */
export function isFree({ price, creditCost }: Pick<Template, 'price' | 'creditCost'>): boolean {
  return (price ?? creditCost) === 0;
}

/** What a template costs, as its buyer reads it. */
export function priceText({ salePrice, creditCost }: Pick<Template, 'salePrice' | 'creditCost'>): string {
  if (salePrice === null) return t('shop.credits', { count: creditCost });
  return salePrice.amount === 0 ? t('shop.free') : minorMoneyText(salePrice.amount, salePrice.currency);
}

const COMFY = 'comfy:';

/** What an execution takes: what the template declares, else the inputs of the ComfyUI workflow that it names. */
export function useParameters({ workflow, parameters }: Pick<Template, 'workflow' | 'parameters'>): unknown {
  const declares = Object.keys(parameters as object).length > 0;
  const isGraph = workflow.startsWith(COMFY);
  const { data } = useQuery(ComfyWorkflowsDocument, { skip: declares || !isGraph });
  if (declares || !isGraph) return parameters;
  return data?.comfyWorkflows.find(({ name }) => name === workflow.slice(COMFY.length))?.inputs ?? {};
}

/** The two ways to an execution of a template: the payment page, or at once where the caller need not pay. */
export function useOrder(code: string) {
  const navigate = useNavigate();
  const caller = useCaller();
  const [execute, executed] = useMutation(ExecuteTemplateDocument);
  const [checkout, opened] = useMutation(CheckoutDocument);
  const [isLeaving, setLeaving] = useState(false);
  const run = (values: Values) => {
    const order = { code, parameters: makeParameters(values), onBehalfOf: listedFor(caller) };
    sendOnce(order, (key) => execute({ variables: { ...order, key } })).then(
      ({ data }) => {
        const taskId = data?.executeTemplate.taskId;
        if (taskId !== undefined) void navigate({ to: '/shop/executions/$taskId', params: { taskId } });
      },
      // It is in `error`.
      () => undefined,
    );
  };
  const buy = (values: Values) => {
    const userId = findBuyer(caller);
    if (userId === null) return;
    const order = {
      code,
      userId,
      parameters: makeParameters(values),
      // A placeholder of the payment provider, which must not be encoded.
      successUrl: `${document.baseURI}shop/paid?session={CHECKOUT_SESSION_ID}`,
      cancelUrl: `${document.baseURI}shop/unpaid`,
    };
    sendOnce(order, (key) => checkout({ variables: { ...order, key } })).then(
      ({ data }) => {
        if (data === undefined || data === null) return;
        leaveFor({ paymentId: data.checkout.payment.id, code, values });
        setLeaving(true);
        location.assign(data.checkout.url);
      },
      () => undefined,
    );
  };
  return {
    run,
    buy,
    error: executed.error ?? opened.error,
    isBusy: executed.loading || opened.loading || isLeaving,
  };
}
