import { useMutation } from '@apollo/client/react';
import { useId, useState } from 'react';

import type { PaymentPartsFragment, RefundReason } from '../../api/documents/operations.ts';
import { PaymentsDocument, RefundPaymentDocument } from '../../api/documents/shop.ts';
import { SelectField } from '../../parts/controls/fields.tsx';
import { Modal } from '../../parts/controls/modal.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Field, Help, Input, Label } from '../../parts/looks/inputs.tsx';
import { fractionDigits, minorMoneyText } from '../../parts/money.ts';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

const REASONS: readonly RefundReason[] = ['USER_REQUEST', 'TECHNICAL_ISSUE', 'DUPLICATE', 'FRAUDULENT'];

interface RefundProps {
  readonly payment: PaymentPartsFragment;
  readonly onClose: () => void;
}

/** Gives a payment back, wholly or in part, with its reason. */
export function Refund({ payment, onClose }: RefundProps) {
  const { id, amount, amountRefunded, currency, template } = payment;
  const field = useId();
  const left = amount - amountRefunded;
  const unit = 10 ** fractionDigits(currency);
  const [reason, setReason] = useState<RefundReason>('USER_REQUEST');
  const [text, setText] = useState(String(left / unit));
  // One key per dialog: a second click, or a lost answer, refunds once.
  const [key] = useState(() => crypto.randomUUID());
  // The sums of the list change with it.
  const [refund, { error, loading }] = useMutation(RefundPaymentDocument, {
    refetchQueries: [PaymentsDocument],
    awaitRefetchQueries: true,
  });
  const wanted = Math.round(Number(text) * unit);
  const isSound = Number.isInteger(wanted) && wanted > 0 && wanted <= left;
  const send = () =>
    void refund({ variables: { id, reason, amount: wanted === left ? null : wanted, key } }).then(
      onClose,
      () => undefined,
    );
  return (
    <Modal
      title={t('shop.refundOf', { name: template.name })}
      onClose={onClose}
      foot={
        <Button kind="primary" disabled={!isSound || loading} onClick={send}>
          {t('shop.refundAmount', { amount: isSound ? minorMoneyText(wanted, currency) : '' })}
        </Button>
      }
    >
      <SelectField
        label={t('shop.reason')}
        value={reason}
        onChange={({ target }) => setReason(REASONS.find((one) => one === target.value) ?? 'USER_REQUEST')}
        options={REASONS.map((one) => [one, t(`shop.reason.${one}`)])}
      />
      <Field>
        <Label htmlFor={`${field}-amount`}>{t('shop.amount')}</Label>
        <Input
          id={`${field}-amount`}
          type="number"
          step={1 / unit}
          min={1 / unit}
          max={left / unit}
          value={text}
          aria-invalid={!isSound}
          aria-describedby={`${field}-help`}
          onChange={({ target }) => setText(target.value)}
        />
        <Help id={`${field}-help`}>{t('shop.amountHelp', { amount: minorMoneyText(left, currency) })}</Help>
      </Field>
      {error !== undefined && <Problem error={error} />}
    </Modal>
  );
}

/** Whether there is something to refund. */
export function isRefundable({
  status,
  amount,
  amountRefunded,
}: Pick<PaymentPartsFragment, 'status' | 'amount' | 'amountRefunded'>): boolean {
  return status === 'COMPLETED' && amountRefunded < amount;
}
