"""Admission control: the queue, the estimates it decides by, tickets, and budgets of memory and side work."""
