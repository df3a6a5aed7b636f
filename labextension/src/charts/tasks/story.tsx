/** What happened to the selected task, in the kernel's words: requested when a person wants it. */
import { messageOf } from '../../lib/error-message';
import { printable } from '../../lib/format';
import { trans } from '../../lib/translate';
import type { TaskStore } from '../../store';
import type { Keeper, StoryLine } from '../ui/keeping';
import type { ComponentChildren } from '../ui/render';
import { Button } from '../ui/toolbar';

const MAX_TEXT = 500;

export class Story {
  #run = -1;
  #key = '';
  /** Null while it is folded away. */
  #lines: readonly StoryLine[] | null = null;

  constructor(private readonly store: TaskStore, private readonly request: Keeper['story'], private readonly changed: () => void) {}

  /** A button that shows the story of the selected task and folds it away, and the story where it is wanted. */
  of(run: number): ComponentChildren {
    const key = this.store.selection.current?.key ?? '';
    const isOpen = this.#isOf(run, key);
    const act = (): void => {
      if (isOpen) {
        this.#show(null);
      } else {
        void this.#fetch(run, key);
      }
    };
    return (
      <>
        <Button text={trans.__('Story')} label={trans.__('Story: what happened to it, where and when')} pressed={isOpen} act={act} />
        <div class="tsk-gantt-story" role="status">
          {isOpen && (
            <table>
              <caption>{trans.__('Story: times after the start of its compute')}</caption>
              <tbody>
                {this.#lines?.map(([after, what], i) => <tr key={i}><th scope="row">{after}</th><td>{printable(what, MAX_TEXT)}</td></tr>)}
              </tbody>
            </table>
          )}
        </div>
      </>
    );
  }

  #isOf(run: number, key: string): boolean {
    return this.#lines !== null && run === this.#run && key === this.#key;
  }

  async #fetch(run: number, key: string): Promise<void> {
    [this.#run, this.#key] = [run, key];
    const waiting: readonly StoryLine[] = [['', trans.__('asking the kernel…')]];
    this.#show(waiting);
    const lines = await this.request(run, key).catch((error: unknown): StoryLine[] => [['', messageOf(error)]]);
    if (this.#lines === waiting) {
      this.#show(lines);
    }
  }

  #show(lines: readonly StoryLine[] | null): void {
    this.#lines = lines;
    this.changed();
  }
}

export const STORY_CSS = `
.tsk-gantt-story { flex: 1 0 100%; max-height: 240px; overflow: auto; }
.tsk-gantt-story table { margin-top: 4px; border-collapse: collapse; }
.tsk-gantt-story caption { color: var(--tsk-faint); text-align: start; }
.tsk-gantt-story :is(th, td) { padding: 1px 0; vertical-align: top; text-align: start; }
.tsk-gantt-story th { padding-inline-end: 12px; color: var(--tsk-faint); font-weight: 400; text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums; }
.tsk-gantt-story td { overflow-wrap: anywhere; }
`;
