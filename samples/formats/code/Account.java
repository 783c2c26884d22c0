package shop;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/**
 * The account of a customer.
 */
public class Account {
    private final List<BigDecimal> entries = new ArrayList<>();

    public Account() {
        entries.add(BigDecimal.ZERO);
    }

    /** Returns what is left. */
    @Override
    public BigDecimal balance() {
        return entries.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    }

    enum Kind {
        DEBIT, CREDIT;

        boolean isDebit() {
            return this == DEBIT;
        }
    }

    record Entry(Kind kind, BigDecimal amount) { }
}
