import { useMutation } from '@apollo/client/react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { CheckoutDocument, ExecuteTemplateDocument } from '../../../api/documents/shop.ts';
import { useCaller } from '../../../api/use-caller.ts';
import { parametersOf, type Values } from '../../../work/work.ts';
import { buyerOf, leaveFor, listedFor } from './buyer.ts';

/** The two ways to an execution of a template: the payment page, or at once where the caller need not pay. */
export function useOrder(code: string) {
  const navigate = useNavigate();
  const caller = useCaller();
  const [execute, executed] = useMutation(ExecuteTemplateDocument);
  const [checkout, opened] = useMutation(CheckoutDocument);
  const [isLeaving, setLeaving] = useState(false);
  const run = (values: Values) => {
    const onBehalfOf = listedFor(caller);
    const variables = { code, parameters: parametersOf(values), key: crypto.randomUUID(), onBehalfOf };
    execute({ variables }).then(
      ({ data }) => {
        const taskId = data?.executeTemplate.taskId;
        if (taskId !== undefined) void navigate({ to: '/shop/executions/$taskId', params: { taskId } });
      },
      () => undefined,
    );
  };
  const buy = (values: Values) => {
    const userId = buyerOf(caller);
    if (userId === null) return;
    const variables = {
      code,
      userId,
      parameters: parametersOf(values),
      // A placeholder of the payment provider, which must not be encoded.
      successUrl: `${document.baseURI}shop/paid?session={CHECKOUT_SESSION_ID}`,
      cancelUrl: `${document.baseURI}shop/unpaid`,
      key: crypto.randomUUID(),
    };
    checkout({ variables }).then(
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
