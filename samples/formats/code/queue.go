// Package queue holds jobs until a worker is free.
package queue

import (
	"errors"
	"sync"
)

// ErrFull says that no further job fits.
var ErrFull = errors.New("queue: full")

// Queue is safe for several goroutines.
type Queue[T any] struct {
	mu   sync.Mutex
	jobs []T
}

// Push adds a job.
func (q *Queue[T]) Push(job T) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, job)
	return nil
}

type (
	// Worker runs jobs.
	Worker interface {
		Run() error
	}
)

func New() *Queue[int] { return &Queue[int]{} }
