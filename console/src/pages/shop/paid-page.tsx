import { useMutation, useSubscription } from '@apollo/client/react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';

import type { PaymentStatus } from '../../api/documents/operations.ts';
import {
  CancelPaymentDocument,
  PaymentEventsDocument,
  ReconcilePaymentDocument,
} from '../../api/documents/shop.ts';
import { forgetCheckout, leftCheckout } from '../../library/order.ts';
import { buttonLook } from '../../parts/looks/button.tsx';
import { Page, PageTop } from '../../parts/looks/panels.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

/** Where the payment page sends who has paid: it waits for the bank, then shows what the payment has started. */
export function PaidPage() {
  const { session } = useSearch({ from: '/shop/paid' });
  const navigate = useNavigate();
  const [reconcile, { data, error }] = useMutation(ReconcilePaymentDocument);
  useEffect(() => {
    forgetCheckout();
    if (session !== undefined) reconcile({ variables: { sessionId: session } }).catch(() => undefined);
  }, [session, reconcile]);
  const asked = data?.reconcilePayment;
  const live = useSubscription(PaymentEventsDocument, {
    variables: { id: asked?.id ?? '' },
    skip: asked?.status !== 'PENDING',
  });
  const payment = live.data?.paymentUpdated ?? asked;
  const taskId = payment?.taskId ?? null;
  useEffect(() => {
    if (taskId === null) return;
    void navigate({ to: '/shop/executions/$taskId', params: { taskId }, replace: true });
  }, [taskId, navigate]);
  return (
    <>
      <PageTop>
        <PageHeading>{t('shop.payment')}</PageHeading>
      </PageTop>
      <Page>
        {(error !== undefined || session === undefined) && (
          <Problem error={error ?? new Error(t('shop.noSession'))}>
            <Link className="link" to="/shop" search={{ view: 'payments' }}>
              {t('shop.payments')}
            </Link>
          </Problem>
        )}
        {error === undefined && session !== undefined && <Waiting status={payment?.status} />}
      </Page>
    </>
  );
}

function Waiting({ status }: { readonly status: PaymentStatus | undefined }) {
  const isOver = status === 'FAILED' || status === 'CANCELLED' || status === 'REFUNDED';
  return (
    <div role="status">
      <Empty
        title={isOver ? t(`payment.${status}`) : t(status === 'PENDING' ? 'shop.bank' : 'shop.asking')}
        text={t(isOver ? 'shop.nothingStarted' : 'shop.waitText')}
      >
        <Link className={buttonLook()} to="/shop">
          {t('page.shop')}
        </Link>
      </Empty>
    </div>
  );
}

/** Where the payment page sends who has given up: its checkout is ended, and the form is as it was. */
export function UnpaidPage() {
  const navigate = useNavigate();
  const [cancel] = useMutation(CancelPaymentDocument);
  useEffect(() => {
    const left = leftCheckout();
    const back = () =>
      void navigate({ to: '/shop', search: left === null ? {} : { template: left.code }, replace: true });
    if (left === null) back();
    // One that can not be ended now ends by itself within the hour.
    else cancel({ variables: { id: left.paymentId } }).then(back, back);
  }, [navigate, cancel]);
  return (
    <PageTop>
      <PageHeading>{t('page.shop')}</PageHeading>
    </PageTop>
  );
}
