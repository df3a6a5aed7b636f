/** What a page knows of a cluster besides its tasks. */
import type { ClusterPart } from '../../wire';
import { ActivityStore } from './activity-store';
import { WorkerStore } from './worker-store';

export class ClusterStore {
  activities = new ActivityStore();
  workers = new WorkerStore();

  append({ activities, workers }: ClusterPart): void {
    this.activities.append(activities);
    this.workers.append(workers);
  }

  clear(): void {
    this.activities = new ActivityStore();
    this.workers = new WorkerStore();
  }
}
