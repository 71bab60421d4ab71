import { type FormEvent, useState } from 'react';

import type { CatalogPartsFragment } from '../../../api/operations.ts';
import { useCaller } from '../../../api/use-caller.ts';
import { TemplateFields } from '../../../library/template-fields.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import type { Values } from '../../../work/work.ts';
import { useParameters } from '../order/template.ts';
import { useOrder } from '../order/use-order.ts';

/** Runs the template as it is saved, without a payment, and goes to its execution. */
export function TestRun({ template }: { readonly template: CatalogPartsFragment }) {
  const caller = useCaller();
  const parameters = useParameters(template);
  const [values, setValues] = useState<Values>({});
  const { run, error, isBusy } = useOrder(template.code);
  const { isActive, creditCost } = template;
  const isPaid = caller?.mayRunUnpaid !== true && creditCost > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run(values);
  };
  return (
    <section className="card">
      <header>
        <h2>{t('shop.testRun')}</h2>
      </header>
      <form className="pad col gap-3" aria-label={t('shop.testRun')} onSubmit={submit}>
        <TemplateFields parameters={parameters} values={values} onChange={setValues} />
        {error !== undefined && <Problem error={error} />}
        {!isActive && <p className="mute">{t('shop.testInactive')}</p>}
        {isPaid && <p className="mute">{t('shop.testPaid')}</p>}
        <button type="submit" className="btn pri self-start" disabled={isBusy || !isActive || isPaid}>
          {t('shop.run')}
        </button>
      </form>
    </section>
  );
}
