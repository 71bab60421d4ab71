import { t } from '../../../text/text.ts';

const QUESTIONS = ['describe', 'list', 'words', 'prompt'] as const;

/** What is often asked about a picture, a recording or a video: a click fills the prompt. */
export function Questions({ onChoose }: { readonly onChoose: (question: string) => void }) {
  return (
    <div className="row wrap gap1" role="group" aria-label={t('question.often')}>
      {QUESTIONS.map((one) => (
        <button
          key={one}
          type="button"
          className="chip"
          title={t(`question.${one}`)}
          onClick={() => onChoose(t(`question.${one}`))}
        >
          {t(`question.short.${one}`)}
        </button>
      ))}
    </div>
  );
}
